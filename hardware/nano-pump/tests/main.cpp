#include <cstdio>

#include "checks.h"

static unsigned checks = 0;
static unsigned failures = 0;

void noteCheck(bool holds, const char *condition, const char *file, int line) {
    checks++;
    if (!holds) {
        failures++;
        printf("%s:%d: does not hold: %s\n", file, line, condition);
    }
}

void noteText(const std::string &seen, const std::string &wanted, const char *file, int line) {
    checks++;
    if (seen != wanted) {
        failures++;
        printf("%s:%d: saw    %s\n%s:%d: wanted %s\n", file, line, seen.c_str(), file, line, wanted.c_str());
    }
}

int main() {
    checkCommandLine();
    checkCommand();
    checkPump();
    checkThermistor();
    checkPotentiometer();
    checkButton();
    checkStatusText();
    checkController();
    checkSafety();
    checkResetCause();
    printf("%u checks, %u failed\n", checks, failures);
    return failures == 0 ? 0 : 1;
}
