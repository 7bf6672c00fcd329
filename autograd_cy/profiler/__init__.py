"""Where the time and the memory of a program go."""
