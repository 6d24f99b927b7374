public import LineProtocol

/// What one check found.
///
///     for finding in await Checkup.bluetooth() where finding.status == .bad { print(finding.fact) }
public struct Finding: Sendable, Hashable {
    /// How something stands.
    public enum Status: Sendable, Hashable {
        /// As it should be.
        case good
        /// It works, and may get in the way.
        case warning
        /// It does not work until it is mended.
        case bad
        /// That can't be told from here; nothing speaks against it.
        case unknown
    }

    /// What was looked at.
    public var check: Check
    /// How it stands.
    public var status: Status
    /// The port, the BLE device or the Bluetooth adapter concerned; nil for the computer as a whole.
    public var subject: String?
    /// What was found.
    public var fact: Fact
    /// What a person can do about it; nil where nothing is to be done.
    public var remedy: Remedy?
    /// How a link would fail that this stands in the way of; nil unless it is bad.
    public var obstacle: LinkError.Code?

    private init(
        _ check: Check, _ status: Status, _ subject: String?, _ fact: Fact, _ remedy: Remedy?,
        _ obstacle: LinkError.Code?
    ) {
        self.check = check
        self.status = status
        self.subject = subject
        self.fact = fact
        self.remedy = remedy
        self.obstacle = obstacle
    }
}

extension Finding {
    static func good(
        _ check: Check, of subject: String? = nil, _ fact: Fact, _ remedy: Remedy? = nil
    ) -> Finding {
        Finding(check, .good, subject, fact, remedy, nil)
    }

    static func unknown(_ check: Check, of subject: String? = nil, _ fact: Fact) -> Finding {
        Finding(check, .unknown, subject, fact, nil, nil)
    }

    static func warning(_ check: Check, of subject: String? = nil, _ fact: Fact, _ remedy: Remedy?) -> Finding {
        Finding(check, .warning, subject, fact, remedy, nil)
    }

    static func bad(
        _ check: Check, of subject: String? = nil, _ fact: Fact, _ remedy: Remedy?, _ obstacle: LinkError.Code
    ) -> Finding {
        Finding(check, .bad, subject, fact, remedy, obstacle)
    }
}
