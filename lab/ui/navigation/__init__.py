"""List the pages that there are: menu, course map, search, and where old links lead."""
