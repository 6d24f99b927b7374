/// A store for messages, before and after they are handed on.
///
/// When a call has returned, its effect is complete. In a store that outlives the program, the effect also survives a
/// power cut.
public protocol RescueStore: Sendable {
    /// Stores the messages whose IDs are new, each with its status.
    ///
    /// - Parameter messages: The messages to store. Of several with one ID, only the first is stored.
    /// - Returns: The messages that were stored, in order.
    /// - Throws: ``RescueStoreError``.
    func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage]

    /// Returns all messages, or only the messages with a given status, in the order in which they were stored.
    ///
    /// - Parameter status: The status; nil means all messages.
    /// - Throws: ``RescueStoreError``.
    func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage]

    /// Sets the status of the messages with these IDs to ``RescueStatus/synced``. Unknown IDs are ignored.
    ///
    /// - Parameter ids: The IDs of the messages.
    /// - Throws: ``RescueStoreError``.
    func markSynced(_ ids: [RescueID]) async throws(RescueStoreError)
}

/// The reason why a store could not be read or written.
public struct RescueStoreError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// There is no folder for the store: the user has no home directory.
        case noPlace = "no_place"
        /// This user may not use the store.
        case notPermitted = "not_permitted"
        /// The program that stores the messages is not installed.
        case notInstalled = "not_installed"
        /// Another program has locked the store for longer than the time limit.
        case locked
        /// The disk is full.
        case full
        /// The stored data can't be read.
        case damaged
        /// The program that stores the messages ended before it answered. It is unknown whether the request was carried
        /// out.
        case lost
        /// The store failed for another reason.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// The failure in one sentence, without a full stop.
    public var text: String
    /// An action for people that may help; nil if there is none.
    public var hint: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - text: The failure in one sentence, without a full stop.
    ///   - hint: An action for people that may help.
    public init(_ code: Code, _ text: String, hint: String? = nil) {
        self.code = code
        self.text = text
        self.hint = hint
    }
}

extension RescueStoreError: CustomStringConvertible {
    public var description: String { text }
}

/// A store in memory, which lasts as long as the program.
public actor RescueMemoryStore: RescueStore {
    private var stored: [RescueMessage] = []
    /// The index of each message in `stored`.
    private var places: [RescueID: Int] = [:]

    /// Creates an empty store.
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
