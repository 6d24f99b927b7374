#include "button.h"
#include "checks.h"

/// Samples the button every millisecond of [begin, end).
static void hold(Button &button, bool pressed, uint32_t begin, uint32_t end) {
    for (uint32_t now = begin; now != end; now++) {
        button.sample(pressed, now);
    }
}

static void aPressCountsOnce() {
    Button button;
    hold(button, false, 0, 100);
    hold(button, true, 100, 150);
    CHECK(!button.takePress());
    hold(button, true, 150, 151);
    CHECK(button.takePress());
    CHECK(!button.takePress());
    hold(button, true, 151, 9000);
    CHECK(!button.takePress());
}

static void aPressWaitsToBeTaken() {
    Button button;
    hold(button, false, 0, 100);
    hold(button, true, 100, 160);
    hold(button, false, 160, 400);
    CHECK(button.takePress());
}

static void bouncesAreIgnored() {
    Button button;
    hold(button, false, 0, 100);
    for (uint32_t now = 100; now < 500; now += 40) {
        hold(button, true, now, now + 20);
        hold(button, false, now + 20, now + 40);
    }
    CHECK(!button.takePress());
}

static void aBounceOnReleaseIsNoSecondPress() {
    Button button;
    hold(button, false, 0, 100);
    hold(button, true, 100, 300);
    CHECK(button.takePress());
    hold(button, false, 300, 310);
    hold(button, true, 310, 320);
    hold(button, false, 320, 500);
    CHECK(!button.takePress());
}

static void heldDownAtBootIsNoPress() {
    Button button;
    hold(button, true, 0, 5000);
    CHECK(!button.takePress());
    hold(button, false, 5000, 5100);
    hold(button, true, 5100, 5200);
    CHECK(button.takePress());
}

static void worksAcrossTheClocksWrap() {
    Button button;
    uint32_t begin = UINT32_MAX - 20;
    hold(button, false, begin - 100, begin);
    hold(button, true, begin, begin + 60);
    CHECK(button.takePress());
}

void checkButton() {
    aPressCountsOnce();
    aPressWaitsToBeTaken();
    bouncesAreIgnored();
    aBounceOnReleaseIsNoSecondPress();
    heldDownAtBootIsNoPress();
    worksAcrossTheClocksWrap();
}
