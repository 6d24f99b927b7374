/// Why a link could not be opened, or broke.
public struct LinkError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The endpoint is not written as any endpoint is.
        case invalidEndpoint = "invalid_endpoint"
        /// Nothing is there under that name: no such port, device, host or socket.
        case notFound = "not_found"
        /// Several things go by that name; ``LinkError/detail`` tells them apart.
        case ambiguous = "ambiguous_port"
        /// The name led to another device before; ``LinkError/detail`` names both.
        case changedDevice = "changed_device"
        /// The device is of another family than it was opened for; ``LinkError/detail`` names its own.
        case wrongFamily = "wrong_family"
        /// The device is there, and has nothing that bytes could go over; ``LinkError/detail`` says what it has.
        case unfit = "unfit_device"
        /// Somebody else uses it.
        case busy
        /// What carries it does not work now, as a Bluetooth adapter that is off.
        case unavailable
        /// This user may not open it.
        case notPermitted = "not_permitted"
        /// The carrier can't do what was asked, as a baud rate that the adapter lacks.
        case unsupported
        /// The far end is gone.
        case disconnected
        /// This end was closed.
        case closed
        /// It did not come about in time.
        case timedOut = "timed_out"
        /// The task that waited was cancelled.
        case cancelled
        /// The system refused for another reason, which ``LinkError/detail`` names.
        case system
    }

    /// Something that a person can do, which each program words as it is done there.
    public enum Remedy: Sendable, Hashable {
        /// Use the device as what it is, one of that family.
        case useAs(family: String)
        /// Name a device behind the scheme: what stands in front of the colon, alone, is no endpoint.
        case nameDevice(scheme: String)
        /// Send no break: only a serial port has that condition.
        case sendNoBreak
        /// Wait for the program that has the device: it ends by itself.
        case waitForHolder
        /// Let a program that shares devices have the device: the one that has it now keeps it as long as it runs.
        case share
    }

    /// The kind of failure.
    public var code: Code
    /// The endpoint or the link concerned.
    public var name: String
    /// What was being done, as `open` or `send`.
    public var activity: String
    /// What the system said, as the name of an `errno`; nil where it said nothing.
    public var detail: String?
    /// One thing that a person can do about it.
    public var hint: String?
    /// What ``hint`` says, where a program has commands or options of its own for that.
    public var remedy: Remedy?
    /// The program that has the device, where it is busy and the program may be known.
    public var holder: LinkHolder?
    /// The device, where it is busy, as ``Link/deviceID`` has it in the program that has it.
    public var deviceID: String?

    /// An error of the given kind.
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
    /// What to do, where the program has no words of its own for it.
    public var description: String {
        switch self {
        case .useAs(let family): "use it as a device of the family \(family)"
        case .nameDevice(let scheme): "name a device after '\(scheme):'"
        case .sendNoBreak: "send no break: only a serial port has a break condition"
        case .waitForHolder: "wait for the program that has it, which ends on its own"
        case .share: "end the program that has it, and use the device from both through a program that shares it"
        }
    }
}

/// A program that has a device.
public struct LinkHolder: Sendable, Hashable {
    /// Its process.
    public var processID: Int32
    /// Its command name, as the system has it; `?` where that may not be known.
    public var command: String

    /// A program with both parts.
    public init(processID: Int32, command: String) {
        self.processID = processID
        self.command = command
    }
}

extension LinkHolder: CustomStringConvertible {
    /// As in `pumpctl (pid 4711)`.
    public var description: String { "\(command) (pid \(processID))" }
}

extension LinkError: CustomStringConvertible {
    public var description: String {
        let place = name.isEmpty ? "''" : name
        switch (code, detail) {
        case (.busy, _):
            return "\(place): busy" + ((holder.map { "open in \($0)" } ?? detail).map { ": \($0)" } ?? "")
        // It says all of it.
        case (.disconnected, let detail?), (.system, let detail?), (.unavailable, let detail?):
            return "\(place): \(detail)"
        default: return "\(place): \(kind)" + (detail.map { ": \($0)" } ?? "")
        }
    }

    private var kind: String {
        switch code {
        case .invalidEndpoint: "not a valid endpoint"
        case .notFound: "no such port or device"
        case .ambiguous: "several devices fit"
        case .changedDevice: "it leads to another device than before"
        case .wrongFamily: "it is a device of another family"
        case .unfit: "it lacks the characteristics that are needed"
        case .busy: "busy"
        case .unavailable: "it can't be reached now"
        case .notPermitted: "permission denied"
        case .unsupported: "not supported there"
        case .disconnected: "the device is gone"
        case .closed: "the link is closed"
        case .timedOut: "no answer in time"
        case .cancelled: "cancelled"
        case .system: "the system refused"
        }
    }
}
