import CSerial

extension SerialPort {
    /// Whether the driver delivers each byte at once.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/unsupported`` if the driver has no such switch, as for
    ///   pseudo-terminals and most adapters except FTDI's; ``SerialError/Code/disconnected``;
    ///   ``SerialError/Code/closed``.
    public func isLowLatency() throws(SerialError) -> Bool {
        var enabled: CInt = 0
        try performShim("reading the latency of") { cserial_get_low_latency($0, &enabled) }
        return enabled != 0
    }

    /// Turns the driver's low-latency mode on or off. In this mode, the driver delivers each byte at once, at the cost
    /// of more interrupts: an FTDI adapter then holds a lone byte for 1 ms instead of 16 ms.
    ///
    /// - Throws: ``SerialError``, as ``isLowLatency()`` does.
    public func setLowLatency(_ enabled: Bool) throws(SerialError) {
        try performShim("setting the latency of") { cserial_set_low_latency($0, enabled ? 1 : 0) }
    }
}
