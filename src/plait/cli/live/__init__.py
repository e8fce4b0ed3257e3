"""The live display: frames are pure, the screen draws them."""
