"""Edge lists of any size -> graphs in folders, through bounded memory."""
