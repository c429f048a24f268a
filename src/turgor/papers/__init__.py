"""The four papers, reproduced: every scene, figure and table, as one HTML report (`turgor papers`)."""
