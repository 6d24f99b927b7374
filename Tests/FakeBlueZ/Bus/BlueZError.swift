public import DBus

/// bluetoothd's errors and their texts.
public enum BlueZError {
    public static let alreadyExists = error("AlreadyExists", "Already Exists")
    public static let authenticationFailed = error("AuthenticationFailed", "Authentication Failed")
    public static let authenticationRejected = error("AuthenticationRejected", "Authentication Rejected")
    public static let blocked = error("Blocked", "Blocked through rfkill")
    public static let doesNotExist = error("DoesNotExist", "Does Not Exist")
    public static let inProgress = error("InProgress", "In Progress")
    public static let invalidArguments = error("InvalidArguments", "Invalid arguments in method call")
    public static let notAuthorized = error("NotAuthorized", "Operation Not Authorized")
    public static let notConnected = error("NotConnected", "Not Connected")
    public static let notReady = error("NotReady", "Resource Not Ready")
    public static let notSupported = error("NotSupported", "Operation is not supported")
    /// A connection attempt that this computer aborted; the next attempt usually succeeds.
    public static let abortedByLocal = failed("le-connection-abort-by-local")
    /// The equivalent of ``abortedByLocal`` in older versions.
    public static let connectionCanceled = failed("br-connection-canceled")

    /// `org.bluez.Error.Failed` with a description.
    public static func failed(_ text: String) -> DBusError { error("Failed", text) }

    /// `org.bluez.Error.NotPermitted` with a description.
    public static func notPermitted(_ text: String) -> DBusError { error("NotPermitted", text) }

    /// An ATT error without a D-Bus name of its own.
    public static func attribute(_ code: UInt8) -> DBusError {
        let digits = String(code, radix: 16)
        return failed("Operation failed with ATT error: 0x" + (code < 16 ? "0" : "") + digits)
    }

    private static func error(_ word: String, _ text: String) -> DBusError {
        DBusError(answering: DBusErrorName("org.bluez.Error.\(word)") ?? .failed, text)
    }
}
