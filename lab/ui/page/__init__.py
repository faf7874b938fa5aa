"""The parts of every page: stage, scenes, equation, notice, check, code, source, symbols."""
