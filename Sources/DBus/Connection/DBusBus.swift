internal import Glibc

/// Which bus to connect to.
public enum DBusBus: Sendable, Hashable {
    /// The computer's; `DBUS_SYSTEM_BUS_ADDRESS` names another.
    case system
    /// The user's, as `DBUS_SESSION_BUS_ADDRESS` names it, else the one in `XDG_RUNTIME_DIR`.
    case session
    /// One at an address as `unix:path=/run/dbus/system_bus_socket`. Connecting to one over TCP blocks the loop.
    case address(String)

    /// The address; nil where no session bus is named.
    var address: String? {
        switch self {
        case .system: Self.variable("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        case .session:
            Self.variable("DBUS_SESSION_BUS_ADDRESS")
                ?? Self.variable("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
        case .address(let address): address
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The bus in words.
    var name: String {
        switch self {
        case .system: "the system bus"
        case .session: "the session bus"
        case .address(let address): "the bus at \(address)"
        }
    }
}
