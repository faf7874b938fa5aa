"""What [GM] §1.6.4 prints of the block that it works by hand, as texts; None where it prints nothing.

K and with it the scores of head 1 do not follow from the printed W_K, two scores of head 2 are wrong, all are
unscaled against the text's own definition, and the second layer norm is not that of its matrix (TF-E1 to E4).
"""

HIDDEN = "−∞"


def rows(text: str) -> list[list[str]]:
    return [row.replace("inf", HIDDEN).split() for row in text.split(";")]


PRINTED = {
    "N": rows("1 -1 1 -1; -1 1 1 -1; 0.58 0.58 -1.73 0.58"),
    "Q1": rows("2 -2; 0 0; -1.15 1.15"),
    "K1": rows("2 -1; 0 1; -1.15 -0.58"),
    "V1": rows("0 0; 0 0; 1.16 -1.15"),
    "M1": rows("6 inf inf; 0 0 inf; -3.45 1.15 0.66"),
    "A1": rows("1 0 0; 0.5 0.5 0; 0.006 0.61 0.38"),
    "M2": rows("0 inf inf; -2 0 inf; 1.15 -1.15 -1.33"),
    "A2": rows("1 0 0; 0.12 0.88 0; 0.84 0.10 0.06"),
    "C1": rows("0 0; 0 0; 0.44 -0.44"),
    "C2": rows("2.00 -1.00; 0.24 -0.12; 1.61 -0.77"),
    "D": rows("0 0 2.00 -1.00; 0 0 0.24 -0.12; 0.44 -0.44 1.61 -0.77"),
    "Y": rows("1 0 3.00 -1.00; 0 1 1.24 -0.12; 1.44 0.56 1.61 0.23"),
    "L": rows("0.39 -0.65 1.43 -1.17; -0.94 0.89 1.11 -1.05; 1.68 -0.15 -0.69 -0.84"),
    "F": rows("0.22 -0.08 0.31 -0.06; -0.18 0.27 0.12 -0.21; 0.36 -0.04 -0.11 0.14"),
    "Z": rows("1.22 -0.08 3.31 -1.06; -0.18 1.27 1.36 -0.33; 1.80 0.52 1.50 0.37"),
}


def differs(printed: str, value: float) -> int:
    """0 where the printed digits are those of the value, 1 where only the rounding differs, 2 where more."""
    if printed == HIDDEN or value == float("-inf"):
        return 2 * ((printed == HIDDEN) != (value == float("-inf")))
    digits = max(2, len(printed.partition(".")[2]))  # "2" is printed where it is exactly so
    if abs(float(printed) - value) <= 0.5 * 10.0**-digits + 1e-9:
        return 0
    return 1 if abs(float(printed) - value) < 0.02 else 2
