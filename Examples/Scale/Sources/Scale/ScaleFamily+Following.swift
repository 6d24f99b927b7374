public import DeviceKit

// The additional facts that a monitor and a recorder of scales need.
extension ScaleFamily: FollowedFamily {
    public static var row: Family { .scale }

    public static func values(of state: ScaleState) -> [String: StateValue] {
        var values: [String: StateValue] = [:]
        values["weight_g"] = state.grams.map { .number($0) }
        values["load"] = state.isOverloaded.map { .text($0 ? "overload" : "normal") }
        return values
    }

    public static func message(of answer: ScaleReply) -> ScaleMessage? {
        switch answer {
        case .weight(let grams): .weight(grams)
        case .tared: .tared
        }
    }

    public static func meaning(of message: ScaleMessage) -> MessageMeaning {
        switch message {
        case .weight: .state
        case .tared: .nothing
        case .overload: .event("overload", text: "OVERLOAD")
        case .error(let code): .error(code)
        case .unknown(let bytes): .text(bytes)
        }
    }
}
