import CSerial
import Glibc
import Synchronization

extension SerialPort {
    /// Returns the options in force: the line settings and the low-latency flag as the driver reports them, the other
    /// options as given.
    ///
    /// If the driver reports the actual baud rate, the result contains that rate and not the requested one.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/disconnected`` or ``SerialError/Code/closed``.
    public func currentOptions() throws(SerialError) -> SerialOptions {
        var taken = cserial_settings()
        try performShim("reading the settings of") { cserial_get_settings($0, &taken) }
        var result = options.withLock { $0 }
        result.update(from: taken)
        do {
            result.lowLatency = try isLowLatency()
        } catch {
            guard error.code == .unsupported else { throw error }
            result.lowLatency = false
        }
        return result
    }

    /// Changes the line settings, the low-latency flag and the drain timeout, and checks the line settings that the
    /// driver chose.
    ///
    /// Bytes still queued go out with the new settings, unless ``drain(deadline:)`` is called first. The policies for
    /// DTR and RTS at opening have no effect, and ``SerialOptions/exclusivity`` cannot change.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/settingsRefused(asked:taken:)``,
    ///   ``SerialError/Code/invalidOption``, ``SerialError/Code/unsupported`` if the driver does not enter raw mode,
    ///   ``SerialError/Code/disconnected`` or ``SerialError/Code/closed``.
    public func apply(_ newOptions: SerialOptions) throws(SerialError) {
        let activity = "setting up"
        try newOptions.validate(for: path)
        let old = options.withLock { $0 }
        guard newOptions.exclusivity == old.exclusivity else {
            throw SerialError(
                .invalidOption, activity: activity, path: path, hint: "open the port again to change how it is shared")
        }
        let descriptor = try borrow(activity)
        defer { shared.giveBack() }
        try newOptions.write(to: descriptor, activity: activity, path: path)
        if newOptions.lowLatency != old.lowLatency {
            _ = cserial_set_low_latency(descriptor, newOptions.lowLatency ? 1 : 0)
        }
        options.withLock { $0 = newOptions }
    }
}

extension SerialOptions {
    /// Throws `invalidOption` if a value is out of range.
    func validate(for path: String) throws(SerialError) {
        let hint: String? =
            if !(1...Int(Int32.max)).contains(baudRate) {
                "choose a baud rate from 1 to \(Int32.max), not \(baudRate)"
            } else if !(5...8).contains(dataBits) {
                "choose 5 to 8 data bits, not \(dataBits)"
            } else if drainTimeout < .zero {
                "choose a drain timeout of at least 0"
            } else {
                nil
            }
        if let hint { throw SerialError(.invalidOption, activity: "setting up", path: path, hint: hint) }
    }

    /// Applies the line settings, and compares them with the settings that the driver chose.
    ///
    /// - Returns: The settings in force before.
    /// - Throws: `settingsRefused`; `unsupported` if the driver does not enter raw mode; the error of a failed call.
    @discardableResult
    func write(to descriptor: CInt, activity: String, path: String) throws(SerialError) -> cserial_settings {
        var wanted = settings
        var answer = cserial_settings()
        var before = cserial_settings()
        let error = cserial_set_settings(descriptor, &wanted, &answer, &before)
        guard error == 0 else { throw SerialError(errno: error, activity: activity, path: path) }
        var taken = self
        taken.update(from: answer)
        let refused = differences(from: taken)
        guard refused.isEmpty else {
            throw SerialError(
                .settingsRefused(asked: self, taken: taken), activity: activity, path: path,
                hint: "use \(refused.map(taken.text(of:)).joined(separator: " and ")), which this port supports")
        }
        guard answer.raw == 1 else {
            throw SerialError(.unsupported, activity: "setting raw mode of", path: path)
        }
        return before
    }

    /// Replaces the line settings with the ones that a driver reports.
    mutating func update(from settings: cserial_settings) {
        baudRate = Int(settings.speed)
        dataBits = Int(settings.data_bits)
        parity = Parity.allCases.first { $0.number == settings.parity } ?? .none
        stopBits = settings.stop_bits == 2 ? .two : .one
        flowControl = FlowControl.allCases.first { $0.number == settings.flow_control } ?? .none
        hangUpOnClose = settings.hang_up_on_close == 1
    }

    private var settings: cserial_settings {
        cserial_settings(
            speed: UInt32(baudRate), data_bits: Int32(dataBits), parity: parity.number,
            stop_bits: Int32(stopBits.rawValue), flow_control: flowControl.number,
            hang_up_on_close: hangUpOnClose ? 1 : 0, raw: 1, echo: 0)
    }
}

extension SerialOptions.Parity {
    fileprivate var number: Int32 {
        switch self {
        case .none: Int32(CSERIAL_PARITY_NONE)
        case .odd: Int32(CSERIAL_PARITY_ODD)
        case .even: Int32(CSERIAL_PARITY_EVEN)
        case .mark: Int32(CSERIAL_PARITY_MARK)
        case .space: Int32(CSERIAL_PARITY_SPACE)
        }
    }
}

extension SerialOptions.FlowControl {
    fileprivate var number: Int32 {
        switch self {
        case .none: Int32(CSERIAL_FLOW_NONE)
        case .rtsCts: Int32(CSERIAL_FLOW_RTS_CTS)
        case .xonXoff: Int32(CSERIAL_FLOW_XON_XOFF)
        }
    }
}
