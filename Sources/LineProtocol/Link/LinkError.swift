/// The reason why a link could not be opened, or why an operation on a link failed.
public struct LinkError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text is not a valid endpoint.
        case invalidEndpoint = "invalid_endpoint"
        /// There is no port, device, host, or server with this name, or it can't be reached.
        case notFound = "not_found"
        /// Several devices match the name; ``LinkError/detail`` lists them.
        case ambiguous = "ambiguous_port"
        /// The name led to another device before; ``LinkError/detail`` names the devices.
        case changedDevice = "changed_device"
        /// The device belongs to another family than the expected one; ``LinkError/detail`` names the device's family.
        case wrongFamily = "wrong_family"
        /// The device lacks the BLE characteristics that the endpoint requires; ``LinkError/detail`` lists others that
        /// it has.
        case unfit = "unfit_device"
        /// Another program has the device open, or an earlier request to the device has not ended.
        case busy
        /// The carrier or a daemon does not work now, for example because the Bluetooth adapter is off.
        case unavailable
        /// This user may not use the device, or the device requires pairing.
        case notPermitted = "not_permitted"
        /// The carrier can't do the requested thing, such as set a baud rate that the adapter lacks.
        case unsupported
        /// The far end is gone.
        case disconnected
        /// The link was closed at this end.
        case closed
        /// The link was not established, or an operation on it did not end, in time.
        case timedOut = "timed_out"
        /// The waiting task was cancelled.
        case cancelled
        /// The system refused for another reason, which ``LinkError/detail`` names.
        case system
    }

    /// An action for people. Each program words the action in terms of its own commands and options.
    public enum Remedy: Sendable, Hashable {
        /// Use the device as one of this family, to which it belongs.
        case useAs(family: String)
        /// Name a device after the colon: the scheme alone is not an endpoint.
        case nameDevice(scheme: String)
        /// Do not send a break: only a serial port has that condition.
        case sendNoBreak
        /// Wait for the program that has the device open: that program ends on its own.
        case waitForHolder
        /// End the program that has the device open, which keeps it as long as it runs, and let a program that shares
        /// devices open the device.
        case share
    }

    /// The kind of failure.
    public var code: Code
    /// The name of the endpoint or link.
    public var name: String
    /// The activity that failed, such as `open` or `send`.
    public var activity: String
    /// Further information, such as the text of an `errno`, or the information that the description of ``code``
    /// mentions; nil if there is none.
    public var detail: String?
    /// One action that a person can take; nil if there is none.
    public var hint: String?
    /// The action of ``hint``, for programs that word the action in terms of their own commands and options; nil if
    /// there is none.
    public var remedy: Remedy?
    /// The program that has the device open, if the device is busy and this user may know the program.
    public var holder: LinkHolder?
    /// The ``Link/deviceID`` of a busy device, by which other programs can reach its holder; nil if unknown.
    public var deviceID: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - name: The name of the endpoint or link.
    ///   - activity: The activity that failed, such as `open`.
    ///   - detail: Further information, such as the text of an `errno`.
    ///   - hint: One action that a person can take. The default is the description of `remedy`.
    ///   - remedy: The action of `hint`, for programs that word the action themselves.
    ///   - holder: The program that has the device open.
    ///   - deviceID: The ``Link/deviceID`` of a busy device.
    public init(
        _ code: Code, name: String, activity: String, detail: String? = nil, hint: String? = nil,
        remedy: Remedy? = nil, holder: LinkHolder? = nil, deviceID: String? = nil
    ) {
        self.code = code
        self.name = name
        self.activity = activity
        self.detail = detail
        self.hint = hint ?? remedy?.description
        self.remedy = remedy
        self.holder = holder
        self.deviceID = deviceID
    }
}

extension LinkError.Remedy: CustomStringConvertible {
    /// The action in words that fit any program.
    public var description: String {
        switch self {
        case .useAs(let family): "use it as a device of the family \(family)"
        case .nameDevice(let scheme): "add a device after '\(scheme):'"
        case .sendNoBreak: "send no break: only a serial port has a break condition"
        case .waitForHolder: "wait for the other program to end; it ends on its own"
        case .share: "end the other program; to use the device from both, let a server share it"
        }
    }
}

/// A program that has a device open.
public struct LinkHolder: Sendable, Hashable {
    /// The process ID.
    public var processID: Int32
    /// The command name, as the system reports it; `?` if this user may not know it.
    public var command: String

    /// Creates a holder.
    public init(processID: Int32, command: String) {
        self.processID = processID
        self.command = command
    }
}

extension LinkHolder: CustomStringConvertible {
    /// The program as text, such as `pumpctl (pid 4711)`.
    public var description: String { "\(command) (pid \(processID))" }
}

extension LinkError: CustomStringConvertible {
    public var description: String {
        let place = name.isEmpty ? "''" : name
        switch (code, detail) {
        case (.busy, _):
            return "\(place): busy" + ((holder.map { "open in \($0)" } ?? detail).map { ": \($0)" } ?? "")
        // The detail alone is a complete description.
        case (.disconnected, let detail?), (.system, let detail?), (.unavailable, let detail?):
            return "\(place): \(detail)"
        default: return "\(place): \(kind)" + (detail.map { ": \($0)" } ?? "")
        }
    }

    private var kind: String {
        switch code {
        case .invalidEndpoint: "not a valid endpoint"
        case .notFound: "no such port or device"
        case .ambiguous: "several devices match"
        case .changedDevice: "the name now leads to another device"
        case .wrongFamily: "the device belongs to another family"
        case .unfit: "the device lacks the required characteristics"
        case .busy: "busy"
        case .unavailable: "not available now"
        case .notPermitted: "permission denied"
        case .unsupported: "not supported"
        case .disconnected: "the device is gone"
        case .closed: "the link is closed"
        case .timedOut: "no answer in time"
        case .cancelled: "cancelled"
        case .system: "system error"
        }
    }
}
