"""Controls: sliders, choices, texts, files, and the drawing pad."""
