"""Figures, tables and pages out of plain records. Knows nothing of what it draws."""
