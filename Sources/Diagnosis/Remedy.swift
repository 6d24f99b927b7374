public import BlueZ
internal import LineProtocol

/// An instruction for a person who wants to solve a problem that a check found. Instructions that a program may word in
/// its own way, with names of its commands and options, have cases of their own.
public enum Remedy: Sendable, Hashable {
    /// A sentence with an instruction, or a command for the shell.
    case advice(String)
    /// A command that a program may offer to run, and the sentence that contains it.
    case command(RootCommand, sentence: String)
    /// Leave the device plugged in where it is, and use this endpoint for its port.
    case nameBySocket(endpoint: String)
    /// Use the device's address in the endpoint.
    case nameByAddress(BluetoothAddress)
    /// Use the device's address in the endpoint; or, if the device has replaced another one of the same name, delete
    /// the stored address of the name.
    case nameByAddressOrForget(BluetoothAddress, name: String)
    /// Keep using the same endpoint, or use the daemon's endpoint for the device.
    case nameShared(endpoint: String)
    /// Run the program outside the container, or give the container access to this resource.
    case leaveContainer(orGiveIt: String)
}

extension Remedy: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self = .advice(text) }
}

extension Remedy: CustomStringConvertible {
    /// An instruction, for programs without a wording of their own.
    public var description: String {
        switch self {
        case .advice(let text), .command(_, let text): text
        case .nameBySocket(let endpoint): "keep the device in this socket, and use \(endpoint)"
        case .nameByAddress(let address): "use the device's address: ble:\(address)"
        case .nameByAddressOrForget(let address, let name):
            "use the device's address: ble:\(address); if it has replaced the first device, have the name "
                + "\(name.printable()) forgotten"
        case .nameShared(let endpoint): "keep the same endpoint: the daemon passes commands on; or use \(endpoint)"
        case .leaveContainer(let needs): "run the program on the computer itself, or give the container \(needs)"
        }
    }
}
