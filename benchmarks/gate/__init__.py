"""A sufficiency score as a gate in front of a generator (RINSE, table 1 and section 5, "Cost")."""
