import DescriptorIO
import Glibc
import LineProtocol
import SerialPort

/// The warning that other programs use the port, and may receive parts of the replies.
struct PortWarning {
    let text: String
    let hint: String

    /// Creates the warning. Returns nil if no other program is known to use the port.
    ///
    /// - Parameters:
    ///   - seesAll: Whether programs of other users were checked too. If not, the hint says how to see them.
    ///   - endingHint: Returns the instruction to end the processes with these IDs.
    init?(
        _ use: PortUse, seesAll: Bool = geteuid() == 0,
        endingHint: ([Int32]) -> String = { HoldingProcess.endingHint($0) }
    ) {
        let holders = use.holders.map(\.description)
        let claims = use.claims
        let names = holders + claims.compactMap(\.holder)
        guard !names.isEmpty else { return nil }
        var parts: [String] = []
        if !holders.isEmpty {
            let verb = holders.count == 1 ? "has" : "have"
            parts.append("\(holders.joined(separator: ", ")) \(verb) \(use.path) open too")
        }
        for claim in claims {
            parts.append("\(claim.holder ?? "") has a lock file for \(use.path) (\(claim.path))")
        }
        let sharers = names.count == 1 ? "the two" : "them"
        let text = "warning: \(parts.joined(separator: "; ")): answers may be split between \(sharers)"
        self.text = text.printable()
        let processes = use.holders.map(\.processID) + claims.compactMap(\.processID)
        var hint = endingHint(processes)
        if !seesAll { hint += "; see programs of other users too: sudo fuser -v \(use.path)" }
        self.hint = hint.printable()
    }
}
