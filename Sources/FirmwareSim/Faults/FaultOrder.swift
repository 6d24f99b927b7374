/// A fault for a device, and its occasion: `NAME[=AMOUNT][@OCCASION]`.
///
/// | written | means |
/// | --- | --- |
/// | `drop` | on the default occasion of the fault |
/// | `drop@5%` | in each line, with a probability of 5 % |
/// | `delay=2s@command:3` | once, in the output after the third command |
/// | `reset@30s` | once, in the first output after 30 s |
/// | `corrupt@line:STATUS` | in each line that begins with `STATUS` |
/// | `drop@always` | in every line |
public struct FaultOrder: Sendable {
    let fault: Fault
    let amount: Fault.Amount
    let occasion: Occasion
    /// The order as typed.
    let text: String

    /// The fault's time; zero if the fault takes none.
    var time: Duration { if case .time(let time) = amount { time } else { .zero } }

    /// The fraction of time that the device's clock loses; negative for a fast clock, 0 if the fault takes no
    /// percentage.
    var drift: Double { if case .share(let share) = amount { share } else { 0 } }

    /// Parses one order.
    ///
    /// - Parameter own: The names of the device's own faults.
    private static func order(_ text: String, beside own: [String]) throws(WrongPart) -> FaultOrder {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let fault = Fault.named(name[0]) else {
            if own.contains(name[0]) { throw WrongPart(text, .takes(name[0], what: "no value")) }
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
            // The clock must go on: a drift of 100 % would stop it.
            Occasion.share(text).flatMap { abs($0) <= 0.5 && $0 != 0 ? .share($0) : nil }
        }
    }

    /// Parses a list separated by commas: orders, and at most one of the names in `own`. The text `none` is an empty
    /// list.
    ///
    /// - Throws: ``WrongPart`` for the first part that is invalid.
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
    /// Describes the value expected after `=`, in words that follow "takes".
    fileprivate func words(of name: String) -> String {
        switch self {
        case .nothing: "no value"
        case .time: "a time, e.g. \(name)=500ms"
        case .share: "a percentage from -50% to 50%, except 0, e.g. \(name)=2%"
        }
    }
}

// MARK: - Orders together

extension FaultOrder {
    /// The largest number of orders of a device at one time.
    static let longestList = 64

    /// Returns a fault that makes no sense on any device, either together with the other orders or over the carrier;
    /// nil if there is none.
    static func senseless(in orders: [FaultOrder], over carrier: SimulatorOption.Carrier) -> SenselessFault? {
        if orders.count(where: { $0.fault.effect == .drift }) > 1 {
            return SenselessFault("drift", "a device has one clock; give drift once")
        }
        // The beginning of a notification is known before the notification is sent. The beginning of a line is known
        // only once its bytes are on their way.
        let late = orders.first { order in
            guard case .line = order.occasion, carrier == .line else { return false }
            return order.fault.effect == .pause(inside: false) || order.fault.effect == .noise
        }
        return late.map { order in
            SenselessFault(
                order.fault.name, over: .line,
                "it begins before the line, and 'line:' matches only text that was sent; use a chance or 'command:'")
        }
    }
}

extension Fault.Effect {
    /// Returns whether the effect can begin on an occasion.
    fileprivate func takes(_ occasion: Occasion) -> Bool {
        switch (self, occasion) {
        // Drift and garbling last as long as the device has the fault.
        case (.drift, _), (.garble, _): false
        // At the start there may be noise on the link, or an early notification to a subscriber, and nothing else.
        case (.noise, .start), (.notifyEarly, .start): true
        case (.notifyEarly, _), (_, .start): false
        // Overruns, repeated replies and hang-ups occur at a command of the host, but `line:` names a line of the device.
        case (.overrun, .line), (.repeatReply, .line), (.hangUp, .line): false
        default: true
        }
    }
}
