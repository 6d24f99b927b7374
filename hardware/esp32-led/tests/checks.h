#pragma once

#include <string>

/// Counts one check. A failed check is printed with its file and line, and the run continues.
#define CHECK(condition) noteCheck((condition), #condition, __FILE__, __LINE__)
/// Compares two texts and counts the check; prints both if they differ.
#define CHECK_TEXT(seen, wanted) noteText((seen), (wanted), __FILE__, __LINE__)

void noteCheck(bool holds, const char *condition, const char *file, int line);
void noteText(const std::string &seen, const std::string &wanted, const char *file, int line);

/// Prints the number of checks; returns the exit status.
int conclude();
