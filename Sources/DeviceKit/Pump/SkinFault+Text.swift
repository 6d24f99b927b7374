public import LineProtocol

extension SkinFault {
    /// What is wrong with the skin's temperature of a running pump, in a clause.
    ///
    /// - Parameter status: What the pump has said.
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
                "the skin sensor reads \(reading) °C, and skin is \(Int(range.lowerBound)) to \(Int(range.upperBound)) °C"
            }
        return cause + (self == .missing ? "" : "; overheating may go unnoticed")
    }
}

extension PumpTemperatures {
    /// The temperatures that the pump names, by what people call them: each reading, or the pump's words if it can't be read.
    ///
    /// - Parameter others: The fields of the same line that are not known, or can't be read.
    public func texts(beside others: [PumpStatusField]) -> [(name: String, text: String)] {
        let read = named.map { (name: $0.name, text: $0.reading.text) }
        return read
            + others.compactMap { field in
                guard let name = field.temperatureName, !read.contains(where: { $0.name == name }) else { return nil }
                return (name, "unknown (the pump says '\(field.value.printable())')")
            }
    }

    /// Those that were read, by what people call them.
    public var named: [(name: String, reading: ThermistorReading)] {
        [("water", water), ("skin", skin), ("temp", single)].compactMap { name, reading in reading.map { (name, $0) } }
    }
}

extension ThermistorReading {
    /// To one decimal, with its unit, for people; what no working thermistor gives is said to be a fault.
    public var text: String { isPlausible ? "\(number) °C" : "sensor fault (reads \(number) °C)" }

    /// To one decimal.
    fileprivate var number: String {
        guard celsius.isFinite, abs(celsius) < 1e9 else { return "\(celsius)" }
        let tenths = Int((abs(celsius) * 10).rounded())
        return (celsius < 0 && tenths > 0 ? "-" : "") + "\(tenths / 10).\(tenths % 10)"
    }
}
