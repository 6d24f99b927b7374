#include "checks.h"
#include "fakes.h"
#include "pump.h"

using State = Pump::State;

static void startsAtSeventyPercent() {
    FakeMotor motor;
    Pump pump(motor);
    CHECK(pump.state() == State::off);
    CHECK(pump.start(1000));
    CHECK(pump.isOn());
    CHECK(motor.runs(180));
    CHECK(pump.percent() == 70);
}

static void aSecondStartResetsSpeedAndRuntime() {
    FakeMotor motor;
    Pump pump(motor);
    pump.start(0);
    pump.setSpeed(40);
    CHECK(pump.start(600000));
    CHECK(motor.runs(180));
    CHECK(pump.runtime(600000) == 0);
}

static void speedZeroIsOnButStill() {
    FakeMotor motor;
    Pump pump(motor);
    pump.start(0);
    pump.setSpeed(0);
    CHECK(pump.isOn());
    CHECK(motor.runs(0));
}

static void percentIsTruncated() {
    FakeMotor motor;
    Pump pump(motor);
    pump.start(0);
    for (auto row : {std::make_pair(200, 78), {255, 100}, {254, 99}, {1, 0}, {0, 0}, {128, 50}, {127, 49}}) {
        pump.setSpeed(uint8_t(row.first));
        CHECK(pump.percent() == row.second);
    }
}

static void onlyStopLeavesTheErrorState() {
    FakeMotor motor;
    Pump pump(motor);
    pump.start(0);
    pump.fail();
    CHECK(pump.state() == State::error);
    CHECK(motor.rests());
    CHECK(!pump.start(1));
    CHECK(motor.rests());
    pump.stop();
    CHECK(pump.state() == State::off);
    CHECK(pump.start(2));
}

static void timesSurviveTheClocksWrap() {
    FakeMotor motor;
    Pump pump(motor);
    uint32_t start = UINT32_MAX - 60000;
    pump.start(start);
    CHECK(pump.runtime(start + 120000) == 120000);
    CHECK(pump.remaining(start + 120000) == 28 * 60000);
    CHECK(pump.remaining(start + Pump::runLimit - 1) == 1);
    CHECK(pump.remaining(start + Pump::runLimit) == 0);
    CHECK(pump.remaining(start + Pump::runLimit + 5000) == 0);
}

void checkPump() {
    startsAtSeventyPercent();
    aSecondStartResetsSpeedAndRuntime();
    speedZeroIsOnButStill();
    percentIsTruncated();
    onlyStopLeavesTheErrorState();
    timesSurviveTheClocksWrap();
}
