"""What people see: tables, figures, the report."""
