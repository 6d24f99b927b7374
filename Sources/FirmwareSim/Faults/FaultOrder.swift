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

    /// The order that a text is.
    ///
    /// - Parameter own: The names of faults of the device's own.
    private static func order(_ text: String, beside own: [String]) throws(WrongPart) -> FaultOrder {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let fault = Fault.named(name[0]) else {
            if own.contains(name[0]) { throw WrongPart(text, .takes(name[0], what: "nothing after it")) }
            let known = SimulatorOption.Value.names(of: own)
            throw WrongPart(text, .unknown(UnknownWord(kind: "fault", word: name[0], known: known)))
        }
        var (amount, occasion) = (fault.amount, fault.occasion)
        if name.count > 1 {
            guard let given = Self.amount(name[1], as: fault.amount) else {
                throw WrongPart(text, .takes(fault.name, what: fault.amount.words(of: fault.name)))
            }
            amount = given
        }
        if parts.count > 1 {
            guard let given = Occasion(parts[1]) else { throw WrongPart(text, .occasion(parts[1])) }
            guard fault.effect.takes(given) else { throw WrongPart(text, .neverBegins(fault.name, at: parts[1])) }
            occasion = given
        }
        return FaultOrder(fault: fault, amount: amount, occasion: occasion, text: text)
    }

    private static func amount(_ text: String, as kind: Fault.Amount) -> Fault.Amount? {
        switch kind {
        case .nothing: nil
        case .time: SimulatorOption.time(text).map(Fault.Amount.time)
        case .share:
            Occasion.share(text).flatMap { abs($0) <= 0.5 && $0 != 0 ? .share($0) : nil }
        }
    }

    /// What a text gives, parted by commas: orders, and at most one of the names in `own`. `none` gives nothing.
    ///
    /// - Throws: The first part that is neither.
    static func orders(
        _ text: String, beside own: [String] = []
    ) throws(WrongPart) -> (orders: [FaultOrder], own: String?) {
        if text == "none" { return ([], nil) }
        var orders: [FaultOrder] = []
        var ownFault: String?
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if own.contains(part) {
                guard ownFault == nil else { throw WrongPart(part, .second) }
                ownFault = part
            } else {
                orders.append(try order(part, beside: own))
            }
        }
        return (orders, ownFault)
    }
}

extension Fault.Amount {
    /// What is taken behind `=`, in words that follow "takes".
    fileprivate func words(of name: String) -> String {
        switch self {
        case .nothing: "nothing after it"
        case .time: "a time, as in \(name)=500ms"
        case .share: "a percentage from -50% to 50%, but 0, as in \(name)=2%"
        }
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
