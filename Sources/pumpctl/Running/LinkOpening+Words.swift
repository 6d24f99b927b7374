import DeviceKit
import LineProtocol

extension LinkOpening.Report {
    /// Returns the text of the report, for people.
    ///
    /// - Parameter name: The link's name.
    func text(of name: String) -> String {
        switch self {
        case .step(let step): "* \(name.printable()): \(step.map { "\($0)" } ?? "")"
        case .waiting(let holder):
            "pumpctl: \(name.printable()): waiting for \(holder.map { "\($0)" } ?? "another program")"
        case .throughDaemon: "* pumpctld has the device: connecting through pumpctld"
        case .opened: "* \(name.printable()) is open"
        case .traffic(let entry): entry.text
        case .discovery(.remark(let remark)): "pumpctl: warning: \(name.printable()): \(remark)"
        case .discovery(.restart(let reset)):
            "pumpctl: \(name.printable()): the board has restarted" + (reset.cause.isEmpty ? "" : ": \(reset.cause)")
                + (reset.isBrownOut ? "\n  hint: give the board a stronger supply" : "")
        case .sharedPort(let use): PortWarning(use).map { "\($0.text)\n  hint: \($0.hint)" } ?? ""
        case .held(.asked(let process)): "pumpctl: pumpctl (pid \(process)) has asked for OFF"
        case .held(.unreachable):
            "pumpctl: no folder for a socket: 'pumpctl off' can't ask this program to switch the device off"
        case .recording(let report): report.text
        }
    }
}

extension TracedLink {
    /// Creates a link whose traffic is printed in the format of `-v`.
    convenience init(_ link: any Link, note: @escaping @Sendable (String) -> Void) {
        note(LinkOpening.Report.opened.text(of: link.name))
        self.init(link, show: { note($0.text) })
    }
}

extension TracedLink.Entry {
    /// The entry on one line, for people.
    fileprivate var text: String {
        switch self {
        case .sends(let bytes): "> " + bytes.printable()
        case .sendsBreak: "> (break)"
        case .received(let bytes): "< " + bytes.printable()
        case .confirms: "* checking the connection"
        case .ended(let error): "* the link ended" + (error.map { ": \($0)" } ?? "")
        }
    }
}
