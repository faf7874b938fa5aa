"""What every page has: stage, scenes, equation, notice, check, code, source, symbols."""
