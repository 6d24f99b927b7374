public import LineProtocol

/// The result of a check.
///
///     for finding in await Checkup.bluetooth() where finding.status == .bad { print(finding.fact) }
public struct Finding: Sendable, Hashable {
    /// The severity of a finding.
    public enum Status: Sendable, Hashable {
        /// No problem.
        case good
        /// A problem that need not keep the device from working.
        case warning
        /// The device does not work until the problem is solved.
        case bad
        /// The check is inconclusive, with no sign of a problem.
        case unknown
    }

    /// The subject of the check.
    public var check: Check
    /// The severity.
    public var status: Status
    /// The port, the BLE or shared device, or the radio of an rfkill switch; nil for the computer as a whole.
    public var subject: String?
    /// The result, in words.
    public var fact: Fact
    /// An instruction for a person; nil if nothing needs to be done.
    public var remedy: Remedy?
    /// The code of the error with which opening a link fails for this reason; nil unless the status is ``Status/bad``.
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
