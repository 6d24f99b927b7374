public import LineProtocol

extension SkinFault {
    /// Returns the fault of the skin temperature of a running pump as a clause, for people.
    ///
    /// - Parameter status: The status with the fault.
    public func text(of status: PumpStatus) -> String {
        let reading = (status.temperatures.skin ?? status.temperatures.single)?.number ?? "?"
        let range = Self.skinRange
        let cause =
            switch self {
            case .missing: "the pump reports no skin temperature: it has no overheat protection"
            case .unreadable:
                "the skin temperature can't be read: the pump says '\(status.unreadSkin?.printable() ?? reading)'"
            case .open: "the skin sensor reads \(reading) °C: its wire is broken"
            case .shorted: "the skin sensor reads \(reading) °C: it is short-circuited"
            case .outOfRange:
                "the skin sensor reads \(reading) °C, but skin is \(Int(range.lowerBound)) to \(Int(range.upperBound)) °C"
            }
        return cause + (self == .missing ? "" : "; overheating may go unnoticed")
    }
}

extension PumpTemperatures {
    /// Returns the reported temperatures with their names for people. If a value can't be read, the text quotes the
    /// pump.
    ///
    /// - Parameter others: The fields of the same line with an unknown name or an unreadable value.
    public func texts(beside others: [PumpStatusField]) -> [(name: String, text: String)] {
        let read = named.map { (name: $0.name, text: $0.reading.text) }
        return read
            + others.compactMap { field in
                guard let name = field.temperatureName, !read.contains(where: { $0.name == name }) else { return nil }
                return (name, "unknown (the pump says '\(field.value.printable())')")
            }
    }

    /// The readable temperatures, with their names for people.
    public var named: [(name: String, reading: ThermistorReading)] {
        [("water", water), ("skin", skin), ("temp", single)].compactMap { name, reading in reading.map { (name, $0) } }
    }
}

extension ThermistorReading {
    /// The temperature with one decimal and its unit, for people. A value that no working thermistor reads is called a
    /// fault.
    public var text: String { isPlausible ? "\(number) °C" : "sensor fault (reads \(number) °C)" }

    /// The temperature with one decimal.
    fileprivate var number: String {
        // A damaged number may be too large for `Int`.
        guard celsius.isFinite, abs(celsius) < 1e9 else { return "\(celsius)" }
        let tenths = Int((abs(celsius) * 10).rounded())
        return (celsius < 0 && tenths > 0 ? "-" : "") + "\(tenths / 10).\(tenths % 10)"
    }
}
