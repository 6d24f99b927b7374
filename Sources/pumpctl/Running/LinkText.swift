import DeviceKit
import LineProtocol

extension TracedLink {
    /// A link that notes what goes over it, as `-v` shows it.
    convenience init(_ link: any Link, note: @escaping @Sendable (String) -> Void) {
        note("* \(link.name) is open")
        self.init(link, show: { note($0.text) })
    }
}

extension TracedLink.Entry {
    /// The entry as people read it, on one line.
    var text: String {
        switch self {
        case .sends(let bytes): "> " + bytes.printable()
        case .sendsBreak: "> (break)"
        case .received(let bytes): "< " + bytes.printable()
        case .confirms: "* is the device still there?"
        case .ended(let error): "* the link ended" + (error.map { ": \($0)" } ?? "")
        }
    }
}

extension ReportingLink {
    /// A link that notes what comes to light, as people read it.
    convenience init(
        _ link: any Link, clock: any Clock<Duration>, note: @escaping @Sendable (String) -> Void,
        mayRestart: Bool = false, lookAround: (@Sendable () -> Void)? = nil
    ) {
        let name = link.name
        self.init(link, clock: clock, mayRestart: mayRestart, lookAround: lookAround) { note($0.text(of: name)) }
    }
}

extension ReportingLink.Discovery {
    /// What people are told.
    ///
    /// - Parameter name: The link's.
    func text(of name: String) -> String {
        switch self {
        case .remark(let remark): return "pumpctl: warning: \(name): \(remark)"
        case .restart(let reset):
            let cause = reset.cause.isEmpty ? "" : ": \(reset.cause)"
            let hint = reset.isBrownOut ? "\n  hint: give the board a stronger supply" : ""
            return "pumpctl: \(name): the board has restarted\(cause)\(hint)"
        }
    }
}
