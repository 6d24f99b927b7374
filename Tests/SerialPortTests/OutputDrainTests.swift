import Testing

@testable import SerialPort

/// Waiting for pending output. A pseudo-terminal does not count this output, so the test plays the driver and the
/// clock.
@Suite struct OutputDrainTests {
    /// A driver that sends `rate` bytes per millisecond. Its time advances only by the pauses of the wait.
    private final class Driver {
        var unsent: Int
        let rate: Int
        var now = ContinuousClock.now
        var waits: [Int32] = []

        init(unsent: Int, rate: Int) {
            self.unsent = unsent
            self.rate = rate
        }

        func drain(for timeout: Duration) throws(SerialError) -> Int {
            let drain = OutputDrain(
                unsentBytes: { self.unsent },
                wait: {
                    self.waits.append($0)
                    self.now += .milliseconds($0)
                    self.unsent = max(0, self.unsent - self.rate * Int($0))
                },
                now: { self.now })
            return try drain.run(until: now + timeout)
        }
    }

    @Test func `Draining without output does not wait`() throws {
        let driver = Driver(unsent: 0, rate: 1)
        #expect(try driver.drain(for: .zero) == 0)
        #expect(driver.waits == [])
    }

    @Test func `Draining waits until everything is sent, with growing pauses`() throws {
        let driver = Driver(unsent: 60, rate: 1)
        #expect(try driver.drain(for: .seconds(1)) == 0)
        #expect(driver.waits == [1, 2, 4, 8, 16, 16, 16])
    }

    @Test func `Draining to a stalled device ends at the deadline`() throws {
        let driver = Driver(unsent: 60, rate: 0)
        let start = driver.now
        #expect(try driver.drain(for: .milliseconds(100)) == 60)
        // The last pause, of 16 ms at most, may exceed the deadline.
        #expect(driver.now - start < .milliseconds(120))
    }

    @Test func `Draining with a zero timeout checks the output once`() throws {
        let driver = Driver(unsent: 60, rate: 1)
        #expect(try driver.drain(for: .zero) == 60)
        #expect(driver.waits == [])
    }

    @Test func `An error ends draining`() throws {
        let gone = SerialError(.disconnected, activity: "sending to", path: "port")
        let drain = OutputDrain(unsentBytes: { 1 }, wait: { _ throws(SerialError) in throw gone })
        #expect(try failure { _ = try drain.run(until: .now + .seconds(60)) } == gone)
    }
}
