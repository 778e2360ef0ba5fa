"""The options that commands share, their readers and their completion."""
