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
    let fault: Fault
    let amount: Fault.Amount
    let occasion: Occasion
    /// As it was written.
    let text: String

    /// The time that it takes; zero where it takes none.
    var time: Duration { if case .time(let time) = amount { time } else { .zero } }

    /// By which share of time it has the device's clock lose.
    var drift: Double { if case .share(let share) = amount { share } else { 0 } }

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
            guard let given = Occasion(String(parts[1])), fault.effect.takes(given) else { return nil }
            occasion = given
        }
        return FaultOrder(fault: fault, amount: amount, occasion: occasion, text: String(text))
    }

    private static func amount(_ text: String, as kind: Fault.Amount) -> Fault.Amount? {
        switch kind {
        case .nothing: nil
        case .time: SimulatorOption.time(text).map(Fault.Amount.time)
        case .share:
            Occasion.share(text).flatMap { abs($0) <= 0.5 && $0 != 0 ? .share($0) : nil }
        }
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

// MARK: - Orders together

extension FaultOrder {
    /// The most that a device has at once.
    static let longestList = 64

    /// The first that makes no sense for any device, beside the others or over a carrier.
    static func senseless(in orders: [FaultOrder], over carrier: SimulatorOption.Carrier) -> SenselessFault? {
        if orders.count(where: { $0.fault.effect == .drift }) > 1 {
            return SenselessFault("drift", "a device has one clock; give it once")
        }
        // How a notification begins is known when it is sent; what is said on a line is on its way by then.
        let late = orders.first { order in
            guard case .line = order.occasion, carrier == .line else { return false }
            return order.fault.effect == .pause(inside: false) || order.fault.effect == .noise
        }
        return late.map { order in
            SenselessFault(
                order.fault.name, over: .line,
                "it comes before a line, and 'line:' is known only once the text has left; use a chance or 'command:'")
        }
    }
}

extension Fault.Effect {
    /// Whether it can happen on an occasion.
    fileprivate func takes(_ occasion: Occasion) -> Bool {
        switch (self, occasion) {
        // These last as long as the device has them.
        case (.drift, _), (.garble, _): false
        // Noise at the start is of the line, and a notification that comes early of a subscription: neither is in a unit.
        case (.noise, .start), (.notifyEarly, .start): true
        case (.notifyEarly, _), (_, .start): false
        // Of a command, a host's bytes are the only units there are.
        case (.overrun, .line), (.repeatReply, .line), (.hangUp, .line): false
        default: true
        }
    }
}
