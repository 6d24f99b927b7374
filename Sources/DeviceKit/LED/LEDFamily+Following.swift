public import LineProtocol

/// Follows the state of an LED board, and reconnects if the link is lost.
public typealias LEDMonitor = DeviceMonitor<LEDFamily>

extension LEDFamily: FollowedFamily {
    public static var row: Family { .led }

    public static func values(of state: LEDState) -> [String: StateValue] {
        Dictionary(uniqueKeysWithValues: state.values.map { ($0.name, StateValue($1)) })
    }

    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool
    ) async throws(SessionError) -> LEDSession {
        try await LEDSession.begin(over: link, clock: clock, waitsUntilReady: waitsUntilReady)
    }

    /// Returns the value of the endpoint `led`, which the status query reads.
    public static func message(of answer: LEDValue) -> LEDMessage? { .value(.led, answer) }

    public static func meaning(of message: LEDMessage) -> MessageMeaning {
        switch message {
        case .value: .state
        case .unknown(let bytes): .text(bytes)
        }
    }
}

extension StateValue {
    /// Creates the value of a field from a value of an LED board.
    public init(_ value: LEDValue) {
        switch value {
        case .boolean(let isOn): self = .boolean(isOn)
        }
    }
}
