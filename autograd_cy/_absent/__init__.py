"""What torch has and this package has not: the table, and who says it where a program asks."""
