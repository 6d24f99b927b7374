/// Commands that any client of a pump can send. Their replies need no button presses, no long runs and no pauses
/// between writes.
enum ClientDialogue {
    /// A command, and the beginning of each line of its reply.
    struct Turn: Sendable {
        var out: String
        var back: [String]

        init(_ out: String, _ back: String...) {
            self.out = out
            self.back = back
        }
    }

    /// Among the commands are some with surprising replies: a number is read as C's `atoi` reads it, so `abc` is 0;
    /// letter case does not matter; and a leading blank makes a command unknown.
    static let turns = [
        Turn("SPEED:9", "ERROR:PUMP_NOT_RUNNING"),
        Turn("STATUS", "STATUS:{State:OFF,"),
        Turn("TEMP", "TEMP:{Water:"),
        Turn("ON", "OK", "PUMP:ON"),
        Turn("SPEED:200", "OK", "SPEED:200"),
        Turn("STATUS", "STATUS:{State:ON,Speed:78%,"),
        Turn("SPEED:256", "ERROR:INVALID_SPEED_VALUE"),
        Turn("SPEED:abc", "OK", "SPEED:0"),
        Turn("FROB", "ERROR:UNKNOWN_COMMAND"),
        Turn("on", "OK", "PUMP:ON"),
        Turn(" ON", "ERROR:UNKNOWN_COMMAND"),
        Turn("OFF", "OK", "PUMP:OFF"),
        Turn("STATUS", "STATUS:{State:OFF,"),
    ]

    /// Whether `lines` are the replies to all turns, in order, apart from the unsolicited reports of a running pump.
    static func isAnswered(by lines: [String]) -> Bool {
        var rest = lines[...]
        for wanted in turns.flatMap(\.back) {
            while let line = rest.first, !line.hasPrefix(wanted), line.isReport { rest.removeFirst() }
            guard let line = rest.popFirst(), line.hasPrefix(wanted) else { return false }
        }
        return rest.isEmpty
    }
}
