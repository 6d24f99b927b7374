/// The properties of a BLE module, as read at its UART.
public struct ModuleInfo: Sendable, Hashable {
    /// The role of a module in a BLE connection.
    public enum Role: String, Sendable, Hashable {
        /// The module advertises, and centrals connect to it.
        case peripheral
        /// The module scans for peripherals, and connects to them.
        case central
    }

    /// The name of the module's AT command dialect, such as `cc41-a`.
    public var dialect: String
    /// The module and its maker, according to the dialect.
    public var title: String
    /// The version of the firmware. This and all further properties are nil if the module did not report them.
    public var version: String?
    /// The name that the module advertises.
    public var name: String?
    /// The configured baud rate of the UART, as the module reports it.
    public var baudRate: Int?
    /// The baud rate at which the module has answered; nil if the module is not at a serial port.
    public var lineRate: Int?
    /// The role of the module in a connection.
    public var role: Role?
    /// The address of the module, such as `00:15:83:31:46:CB`.
    public var address: String?
}
