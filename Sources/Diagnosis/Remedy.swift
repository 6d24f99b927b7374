public import BlueZ
internal import LineProtocol

/// What a person can do about what a check found.
public enum Remedy: Sendable, Hashable {
    /// What the sentence says: an instruction, or a command for the shell.
    case advice(String)
    /// Leave the device in its socket, and name its port by this endpoint.
    case nameBySocket(endpoint: String)
    /// Name the device by its address.
    case nameByAddress(BluetoothAddress)
    /// Name the device by its address; or, where it has replaced another of that name, have the name forgotten.
    case nameByAddressOrForget(BluetoothAddress, name: String)
    /// Use the device as ever, or name it as the daemon does that shares it.
    case nameShared(endpoint: String)
    /// Run the program on the computer itself, or give its container this.
    case leaveContainer(orGiveIt: String)
}

extension Remedy: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self = .advice(text) }
}

extension Remedy: CustomStringConvertible {
    /// One instruction, where the program has no words of its own for it.
    public var description: String {
        switch self {
        case .advice(let text): text
        case .nameBySocket(let endpoint): "leave it there, and name it \(endpoint)"
        case .nameByAddress(let address): "name it by its address: ble:\(address)"
        case .nameByAddressOrForget(let address, let name):
            "name it by its address: ble:\(address); where it has replaced the first, have the name "
                + "\(name.printable()) forgotten"
        case .nameShared(let endpoint): "use it as before: the daemon passes commands on; or name it \(endpoint)"
        case .leaveContainer(let needs): "run the program on the computer itself, or give the container \(needs)"
        }
    }
}
