public import DescriptorIO
import Glibc

/// A set of modem lines.
public struct ModemLines: OptionSet, Sendable, Hashable {
    /// The kernel's bits (`TIOCM_*`).
    public let rawValue: Int32

    /// Creates a set from the kernel's bits.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Data Terminal Ready, driven by this computer. An Arduino resets each time DTR becomes asserted.
    public static let dtr = ModemLines(rawValue: TIOCM_DTR)
    /// Request To Send, driven by this computer.
    public static let rts = ModemLines(rawValue: TIOCM_RTS)
    /// Clear To Send, driven by the device.
    public static let cts = ModemLines(rawValue: TIOCM_CTS)
    /// Data Carrier Detect, driven by the device.
    public static let dcd = ModemLines(rawValue: TIOCM_CAR)
    /// Ring Indicator, driven by the device.
    public static let ri = ModemLines(rawValue: TIOCM_RNG)
    /// Data Set Ready, driven by the device.
    public static let dsr = ModemLines(rawValue: TIOCM_DSR)

    /// Applies `TIOCMBIS`, which asserts these lines, or `TIOCMBIC`, which releases them. Returns −1 and sets errno on
    /// failure.
    func change(_ request: UInt, on descriptor: CInt) -> CInt {
        var bits = rawValue
        return ioctl(descriptor, request, &bits)
    }
}

extension SerialPort {
    /// Returns the modem lines that are asserted now, including this computer's own.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/unsupported`` if the port has no modem lines, like a
    ///   pseudo-terminal; ``SerialError/Code/disconnected``; ``SerialError/Code/closed``.
    public func modemLines() throws(SerialError) -> ModemLines {
        var bits: CInt = 0
        try perform("reading the modem lines of") { ioctl($0, UInt(TIOCMGET), &bits) }
        let known: ModemLines = [.dtr, .rts, .cts, .dcd, .ri, .dsr]
        return ModemLines(rawValue: bits).intersection(known)
    }

    /// Asserts or releases DTR.
    ///
    /// - Throws: ``SerialError``, as ``modemLines()`` does.
    public func setDTR(_ asserted: Bool) throws(SerialError) {
        try set(.dtr, asserted, "setting DTR of")
    }

    /// Asserts or releases RTS.
    ///
    /// - Throws: ``SerialError``, as ``modemLines()`` does.
    public func setRTS(_ asserted: Bool) throws(SerialError) {
        try set(.rts, asserted, "setting RTS of")
    }

    /// Resets an Arduino by releasing DTR for 50 ms, or less if the task is cancelled, and asserting it again. This
    /// function does not wait for the board's bootloader and start-up, which take about 3 s.
    ///
    /// - Parameter loop: The loop whose timer ends the 50 ms.
    /// - Throws: ``SerialError``, as ``modemLines()`` does.
    public func pulseDTR(on loop: EventLoop) async throws(SerialError) {
        try setDTR(false)
        // While DTR is released, the board's reset capacitor charges through 10 kΩ within 1 ms; 50 ms is ample.
        try? await EventLoopClock(loop).sleep(for: .milliseconds(50))
        try setDTR(true)
    }

    private func set(_ line: ModemLines, _ asserted: Bool, _ activity: String) throws(SerialError) {
        try perform(activity) { line.change(UInt(asserted ? TIOCMBIS : TIOCMBIC), on: $0) }
    }
}
