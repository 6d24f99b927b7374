/// What a BLE module says of itself at its UART.
public struct ModuleInfo: Sendable, Hashable {
    /// What it is in a BLE connection.
    public enum Role: String, Sendable, Hashable {
        /// It is found, and connected to.
        case peripheral
        /// It looks for others, and connects to them.
        case central
    }

    /// Whose AT commands it takes, as `cc41-a`.
    public var dialect: String
    /// The module and its maker, by its dialect.
    public var title: String
    /// The version of its firmware; nil, as with the others, where it did not say.
    public var version: String?
    /// What it is called over BLE.
    public var name: String?
    /// The baud rate of its UART that it says it is set to.
    public var baudRate: Int?
    /// The baud rate at which it has answered; nil where no serial port leads to it.
    public var lineRate: Int?
    /// What it is in a connection.
    public var role: Role?
    /// Its address, as `00:15:83:31:46:CB`.
    public var address: String?
}
