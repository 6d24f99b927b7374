/// Waits for output to be sent, with a deadline.
///
/// tcdrain(3) has no deadline: it blocks for ever if the device has stopped the flow (serial#184, jSerialComm#287). So
/// this type polls the output queue.
struct OutputDrain {
    /// The number of bytes not sent yet.
    var unsentBytes: () throws(SerialError) -> Int
    /// Waits for a number of milliseconds; throws if the device is gone.
    var wait: (_ milliseconds: Int32) throws(SerialError) -> Void
    /// The current time.
    var now: () -> ContinuousClock.Instant = { .now }

    /// Waits until all output is sent or the deadline has passed.
    ///
    /// - Returns: The number of bytes still unsent.
    func run(until deadline: ContinuousClock.Instant) throws(SerialError) -> Int {
        var step: Int32 = 1
        while true {
            let unsent = try unsentBytes()
            guard unsent > 0, now() < deadline else { return unsent }
            try wait(step)
            // A short command is sent within a millisecond or two; a long one needs no such frequent polling.
            step = min(step * 2, 16)
        }
    }
}
