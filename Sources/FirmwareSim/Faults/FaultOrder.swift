/// A fault that a device is to have, and when: `NAME[=AMOUNT][@OCCASION]`.
///
/// | written | means |
/// | --- | --- |
/// | `drop` | as often as the fault does by itself |
/// | `drop@5%` | in each line, or each notification, with this chance |
/// | `delay=2s@command:3` | once, in what follows the third command |
/// | `reset@30s` | once, in what follows after this time |
/// | `corrupt@line:STATUS` | in each line that begins with this |
/// | `drop@always` | in every line |
public struct FaultOrder: Sendable {
    /// When a fault happens.
    enum Occasion: Sendable, Hashable {
        case always
        /// When a host comes, and behind a reset.
        case start
        /// In each unit with this chance, above 0 and at most 1.
        case chance(Double)
        /// Once, in the first unit after this time.
        case time(Duration)
        /// Once, in the first unit after the command of this number, counted from 1.
        case command(Int)
        /// In each unit that begins with these bytes.
        case line([UInt8])
    }

    let fault: Fault
    let amount: Fault.Amount
    let occasion: Occasion
    /// As it was written.
    let text: String

    /// The order that a text is; nil where it is none.
    private static func order(_ text: some StringProtocol) -> FaultOrder? {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let fault = Fault.named(name[0]) else { return nil }
        var (amount, occasion) = (fault.amount, fault.occasion)
        if name.count > 1 {
            guard let given = Self.amount(String(name[1]), as: fault.amount) else { return nil }
            amount = given
        }
        if parts.count > 1 {
            guard fault.effect != .drift, let given = Self.occasion(String(parts[1])) else { return nil }
            // Noise at the start is of the line, not of a unit; nothing else has a start.
            guard given != .start || fault.effect == .noise else { return nil }
            // Of a command, a host's bytes are the only units there are.
            if fault.effect == .overrun, case .line = given { return nil }
            occasion = given
        }
        return FaultOrder(fault: fault, amount: amount, occasion: occasion, text: String(text))
    }

    private static func amount(_ text: String, as kind: Fault.Amount) -> Fault.Amount? {
        switch kind {
        case .nothing: nil
        case .time: SimulatorOption.time(text).map(Fault.Amount.time)
        case .share:
            share(text).flatMap { abs($0) <= 0.5 && $0 != 0 ? .share($0) : nil }
        }
    }

    private static func occasion(_ text: String) -> Occasion? {
        if text == "always" { return .always }
        if text == "start" { return .start }
        if let share = share(text) { return share > 0 && share <= 1 ? .chance(share) : nil }
        if text.hasPrefix("command:") {
            return Int(text.dropFirst("command:".count)).flatMap { $0 > 0 ? .command($0) : nil }
        }
        if text.hasPrefix("line:") {
            let beginning = Array(text.dropFirst("line:".count).utf8)
            return beginning.isEmpty || beginning.count > FaultyUnit.capacity ? nil : .line(beginning)
        }
        return SimulatorOption.time(text).map(Occasion.time)
    }

    private static func share(_ text: String) -> Double? {
        guard text.hasSuffix("%"), let percent = Double(text.dropLast()), percent.isFinite else { return nil }
        return percent / 100
    }

    /// What a text gives, parted by commas: orders, and at most one of the names in `own`; nil where a part is neither.
    /// `none` gives nothing.
    static func orders(_ text: String, beside own: [String] = []) -> (orders: [FaultOrder], own: String?)? {
        if text == "none" { return ([], nil) }
        var orders: [FaultOrder] = []
        var ownFault: String?
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if own.contains(part), ownFault == nil {
                ownFault = part
            } else {
                guard let order = order(part) else { return nil }
                orders.append(order)
            }
        }
        return (orders, ownFault)
    }
}
