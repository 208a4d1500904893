"""English as the rules know it: names, phrases, what a sentence says of a name, doubt."""
