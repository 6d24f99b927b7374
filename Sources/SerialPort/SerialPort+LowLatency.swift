import CSerial

extension SerialPort {
    /// Whether the driver hands over each byte at once.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/unsupported`` where the driver has no such switch, as a
    ///   pseudo-terminal and most adapters but FTDI's; ``SerialError/Code/disconnected``; ``SerialError/Code/closed``.
    public func isLowLatency() throws(SerialError) -> Bool {
        var enabled: CInt = 0
        try performShim("reading the latency of") { cserial_get_low_latency($0, &enabled) }
        return enabled != 0
    }

    /// Asks the driver to hand over each byte at once, at the price of more interrupts: an FTDI adapter then waits for
    /// 1 ms in place of 16.
    ///
    /// - Throws: As ``isLowLatency()``.
    public func setLowLatency(_ enabled: Bool) throws(SerialError) {
        try performShim("setting the latency of") { cserial_set_low_latency($0, enabled ? 1 : 0) }
    }
}
