/// Waiting for output to be sent, with a bound.
///
/// tcdrain(3) has none: it blocks for ever on a device that has stopped the flow (serial#184, jSerialComm#287). So this
/// looks, waits a little, and looks again.
struct OutputDrain {
    /// The number of bytes not sent yet.
    var unsentBytes: () throws(SerialError) -> Int
    /// Waits so many milliseconds; throws when there is no more use in waiting.
    var wait: (_ milliseconds: Int32) throws(SerialError) -> Void
    /// The time.
    var now: () -> ContinuousClock.Instant = { .now }

    /// Waits until all is sent or the deadline is there, and returns the number of bytes that are left.
    func run(until deadline: ContinuousClock.Instant) throws(SerialError) -> Int {
        var step: Int32 = 1
        while true {
            let unsent = try unsentBytes()
            guard unsent > 0, now() < deadline else { return unsent }
            try wait(step)
            // A short command is over in a millisecond or two, a long one is not worth looking at so often.
            step = min(step * 2, 16)
        }
    }
}
