"""The `lab` command. Heavy packages are imported where a command needs them."""

import sys
from collections.abc import Callable

from lab.errors import UserError

USAGE = """\
usage: lab <command> [...]

Train and test
  lab fit <experiment> [options]        train, then test the best epoch and write weights and card
  lab validate <experiment> [options]   measure trained weights on the validation split
  lab test <experiment> [options]       measure trained weights on the test split
  lab predict <experiment> [options]    predictions for the test split
      <experiment> is a name of `lab list` or the path of your own YAML; options are LightningCLI's:
      --trainer.max_epochs 3  --model.init_args.hidden [64]  --ckpt_path last  --preset gpu|ddp|fsdp|nodes
      --trust net.py lets settings name classes of that file (sample and size take it too)

Look
  lab list [--json]                     all experiments
  lab sample <experiment> [-n 16] [--seed 0] [--out file.png|file.txt]
  lab size <experiment> [--path my.csv] [--most 8]   how many components, factors or states: BIC, held out
  lab app [options of streamlit]        open the dashboard; --processes 4 for a class, behind nginx
  lab lecture [name] [--pdf file.pdf]   the lectures; open the dashboard at a lecture's first scene
  lab import <folder> [--name my-gpt2]  take over a GPT-2 or a BERT in the format of Hugging Face
  lab data [name]                       fetch data, or say where it is
  lab results                           rebuild the tables of results from the cards
  lab bench [names] [--json] [--write]  side-by-side measurements; --write keeps them in lab/bench
"""

LONGEST = 600  # letters of a sentence


def main(argv: list[str] | None = None) -> int:
    """Run one command; 0 when done, 2 when the user can mend what is wrong."""
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    name, *args = argv
    try:
        from lab.shadowed import shadowed

        if sentence := shadowed():
            raise UserError(sentence)
        from lab import commands

        command: Callable[[list[str]], int | None] | None = commands.COMMANDS.get(name)
        if command is None:
            import difflib

            near = difflib.get_close_matches(name, commands.COMMANDS, n=1)
            hint = f"did you mean `lab {near[0]}`?" if near else "`lab --help` shows all."
            raise UserError(f"There is no command {name!r}: {hint}")
        return command(args) or 0
    except UserError as error:
        sentence = " ".join(str(error).split())  # what it quotes may be long, and have many lines
        print(f"lab: {sentence if len(sentence) <= LONGEST else sentence[:LONGEST] + ' …'}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("lab: stopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
