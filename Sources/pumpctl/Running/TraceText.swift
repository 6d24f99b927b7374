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
