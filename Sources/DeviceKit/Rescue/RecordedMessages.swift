public import LineProtocol
public import RecordFormat
internal import Synchronization

/// The messages of this user, stored in the record.
///
/// ``open(by:)`` starts the program that stores the messages. If the program ends, the request in progress throws an
/// error. The caller may repeat the request: the next request starts the program again.
public final class RecordedMessages: RescueStore {
    private let conversation = Mutex<RecordConversation?>(nil)
    private let program: CompanionProgram?

    private init(_ program: CompanionProgram?) { self.program = program }

    /// Opens the messages, and checks that they can be stored.
    ///
    /// - Parameter program: The program that keeps the messages; nil for the installed one.
    public static func open(by program: CompanionProgram? = nil) async throws(RescueStoreError) -> RecordedMessages {
        let messages = RecordedMessages(program)
        _ = try await messages.commit([])
        return messages
    }

    public func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage] {
        if messages.isEmpty { return [] }
        let received = RecordTime.now
        let isNew = try await commit(messages.map { .store(StoredMessage($0, received: received)) })
        return zip(messages, isNew).filter(\.1).map(\.0)
    }

    public func markSynced(_ ids: [RescueID]) async throws(RescueStoreError) {
        if !ids.isEmpty { _ = try await commit(ids.map { .markSynced(id: "\($0)") }) }
    }

    public func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage] {
        try await typed { [program] in
            let reader = try MessageReader(status: status, by: program)
            var messages: [RescueMessage] = []
            while let message = try reader.next() { messages.append(message) }
            return messages
        }
    }

    /// Sends requests, and returns once their effects are on the disk. Returns for each message to store whether it was
    /// new.
    private func commit(_ requests: [MessageRequest]) async throws(RescueStoreError) -> [Bool] {
        try await typed {
            try self.conversation.withLock { kept in
                let conversation = try kept ?? RecordConversation(["write"], by: self.program)
                // A conversation that has failed is not used again, because a late answer could be taken for the answer
                // to another request.
                kept = nil
                try conversation.ask(requests + [.commit])
                while let answer = try conversation.next() {
                    switch answer {
                    case .committed(let isNew):
                        kept = conversation
                        return isNew
                    case .refused(let trouble):
                        kept = conversation
                        throw trouble
                    default: continue
                    }
                }
                throw RescueStoreError(.lost, "pumpctl-record has ended")
            }
        }
    }

    private func typed<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws(RescueStoreError) -> Value {
        do {
            return try await aside(work)
        } catch let error as RescueStoreError {
            throw error
        } catch let trouble as Trouble {
            throw RescueStoreError(
                RescueStoreError.Code(rawValue: trouble.code) ?? .system, trouble.text, hint: trouble.hint)
        } catch {
            throw RescueStoreError(.system, "\(error)")
        }
    }
}

/// Reads the stored messages one by one. Every call may block on the disk.
public struct MessageReader {
    private let conversation: RecordConversation

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - status: The status of the messages; nil for any.
    ///   - category: The category of the messages; nil for any.
    ///   - newest: The number of messages, of which the last to arrive comes first; nil for all, in the order of
    ///     arrival.
    ///   - program: The program that keeps the messages; nil for the installed one.
    public init(
        status: RescueStatus?, category: RescueCategory? = nil, newest: Int? = nil,
        by program: CompanionProgram? = nil
    ) throws(Trouble) {
        conversation = try RecordConversation(
            ["messages", status?.rawValue ?? "-", category?.rawValue ?? "-", newest.map { "\($0)" } ?? "-"], by: program
        )
    }

    /// Returns the next message; nil after the last one.
    public func next() throws(Trouble) -> RescueMessage? {
        while let answer = try conversation.next() {
            switch answer {
            case .message(let stored): return try RescueMessage(stored)
            // There is no database before the first message or record.
            case .failing(let trouble) where trouble.code == "not_found": return nil
            case .failing(let trouble): throw trouble
            default: continue
            }
        }
        return nil
    }
}

extension StoredMessage {
    fileprivate init(_ message: RescueMessage, received: RecordTime) {
        self.init(
            id: "\(message.id)", category: message.category.rawValue, received: received,
            status: message.status == .synced ? .synced : .pendingSync,
            json: String(decoding: message.json, as: UTF8.self))
    }
}

extension RescueMessage {
    fileprivate init(_ stored: StoredMessage) throws(Trouble) {
        do throws(RescueError) {
            try self.init(json: Array(stored.json.utf8))
        } catch {
            throw Trouble(
                code: "damaged", text: "the stored message \(stored.id) is damaged: \(error)",
                hint: "delete the message from the table 'messages' of the record")
        }
        status = stored.status == .synced ? .synced : .pendingSync
    }
}
