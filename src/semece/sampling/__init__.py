"""What is missing is drawn and stored: responses, and the replies of judges."""
