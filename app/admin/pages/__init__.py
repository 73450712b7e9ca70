"""The pages of the desk, one subject a module: parse, call one service, render."""
