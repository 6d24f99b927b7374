import DeviceKit
import LineProtocol
import RecordFormat
import Synchronization

/// The messages of this user, which are kept with all else that is recorded.
///
/// The program that keeps them is started by ``open()``, and anew where it has ended: what it did not acknowledge is asked
/// of the next one.
final class RecordedMessages: RescueStore {
    private let conversation = Mutex<RecordConversation?>(nil)

    /// The messages, once it is known that they can be stored.
    static func open() async throws(RescueStoreError) -> RecordedMessages {
        let messages = RecordedMessages()
        _ = try await messages.commit([])
        return messages
    }

    func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage] {
        if messages.isEmpty { return [] }
        let received = RecordTime.now
        let isNew = try await commit(messages.map { .store(StoredMessage($0, received: received)) })
        return zip(messages, isNew).filter(\.1).map(\.0)
    }

    func markSynced(_ ids: [RescueID]) async throws(RescueStoreError) {
        if !ids.isEmpty { _ = try await commit(ids.map { .markSynced(id: "\($0)") }) }
    }

    func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage] {
        try await typed {
            let reader = try MessageReader(status: status)
            var messages: [RescueMessage] = []
            while let message = try reader.next() { messages.append(message) }
            return messages
        }
    }

    /// Returns once all of it is on the disk: which of the messages to store were new.
    private func commit(_ requests: [MessageRequest]) async throws(RescueStoreError) -> [Bool] {
        try await typed {
            try self.conversation.withLock { kept in
                let conversation = try kept ?? RecordConversation(["write"])
                // One that has failed is not asked again: its answers could be those to something else.
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

/// Reads the messages that are kept, one by one, in the order in which they came. Each call may wait for the disk.
struct MessageReader {
    private let conversation: RecordConversation

    init(status: RescueStatus?, category: RescueCategory? = nil) throws(Trouble) {
        conversation = try RecordConversation(["messages", status?.rawValue ?? "-", category?.rawValue ?? "-"])
    }

    /// The next message; nil behind the last one.
    func next() throws(Trouble) -> RescueMessage? {
        while let answer = try conversation.next() {
            switch answer {
            case .message(let stored): return try RescueMessage(stored)
            // Where nothing has been kept yet there are no messages.
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
                code: "damaged", text: "what is kept as \(stored.id) is no message: \(error)",
                hint: "delete the message from the table 'messages': another program changed it")
        }
        status = stored.status == .synced ? .synced : .pendingSync
    }
}

extension Failure {
    init(_ error: RescueStoreError) {
        self.init(Trouble(code: error.code.rawValue, text: error.text, hint: ""))
        hint = error.hint
    }
}
