/// Where messages are kept until they were handed on, and after that.
///
/// What a call has returned is kept, also behind a power cut where the store outlives the program.
public protocol RescueStore: Sendable {
    /// Stores those of `messages` whose id is not there yet, each with its status.
    ///
    /// - Returns: Those that were stored, in their order. Of several with one id that is the first.
    func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage]

    /// All messages, or those of a status, in the order in which they were stored.
    func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage]

    /// Notes that the messages of these ids were handed on. Ids that are not there are left out.
    func markSynced(_ ids: [RescueID]) async throws(RescueStoreError)
}

/// Why a store could not be read or written.
public struct RescueStoreError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// There is no place for it: no home.
        case noPlace = "no_place"
        /// This user may not.
        case notPermitted = "not_permitted"
        /// The program that keeps the messages is not installed.
        case notInstalled = "not_installed"
        /// Another program has held it for longer than was waited.
        case locked
        /// The disk is full.
        case full
        /// What is there can't be read.
        case damaged
        /// It ended before it answered: whether it has stored what it was asked to is unknown.
        case lost
        /// It failed for another reason.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// What went wrong, in one sentence without a full stop.
    public var text: String
    /// What a person can do about it.
    public var hint: String?

    /// An error of the given kind.
    public init(_ code: Code, _ text: String, hint: String? = nil) {
        self.code = code
        self.text = text
        self.hint = hint
    }
}

extension RescueStoreError: CustomStringConvertible {
    public var description: String { text }
}

/// A store that lasts as long as the program.
public actor RescueMemoryStore: RescueStore {
    private var stored: [RescueMessage] = []
    private var places: [RescueID: Int] = [:]

    /// An empty store.
    public init() {}

    public func insertNew(_ messages: [RescueMessage]) -> [RescueMessage] {
        let count = stored.count
        for message in messages where places[message.id] == nil {
            places[message.id] = stored.count
            stored.append(message)
        }
        return Array(stored[count...])
    }

    public func messages(_ status: RescueStatus?) -> [RescueMessage] {
        stored.filter { status == nil || $0.status == status }
    }

    public func markSynced(_ ids: [RescueID]) {
        for place in ids.compactMap({ places[$0] }) { stored[place].status = .synced }
    }
}
